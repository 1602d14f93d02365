// The kernels as C++: threads run one after the other. Compiled once for each number of columns, in front of the source.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

using std::log;
using std::log2;

struct Place {
    long long x;
};
extern thread_local Place blockIdx, threadIdx, blockDim, gridDim;
extern thread_local unsigned shared_memory[1 << 16];

#define DEVICE inline
#define RARE inline
#define PASTE(name, n) name##_##n
#define NAMED(name, n) PASTE(name, n)
#define KERNEL(name) extern "C" void NAMED(name, N_COLUMNS)
#define ARGUMENT(type, name) const type& name
#define KERNEL_OF_LARGE_BLOCKS(name, n_threads) KERNEL(name)
#define SHARED(name) unsigned* const name = shared_memory
inline unsigned long long bits_of(double value) {
    unsigned long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline double infinity() { return INFINITY; }
inline void __syncthreads() {}  // launched with one thread in a block
inline unsigned add_one(unsigned* counter) { return (*counter)++; }

// A warp of one thread.
constexpr unsigned n_abreast = 1;
inline unsigned lane_number() { return 0; }
inline void wait_abreast() {}
inline unsigned vote(bool yes) { return yes; }
template <class T>
inline T value_of(T value, unsigned) {
    return value;
}
inline unsigned count_bits(unsigned bits) { return static_cast<unsigned>(std::popcount(bits)); }
inline unsigned first_bit(unsigned bits) { return static_cast<unsigned>(std::countr_zero(bits)); }
inline unsigned take_one(unsigned* counter) { return (*counter)++; }
