// The kernels of growth as C++: a team has one thread, and threads run one after the other.
#include <cmath>
#include <cstdint>
#include <cstring>

struct Place {
    long long x;
};
extern thread_local Place blockIdx, threadIdx, blockDim, gridDim;
extern thread_local unsigned shared_memory[1 << 16];

#define DEVICE inline
#define CALLED inline
#define KERNEL(name) extern "C" void name
#define SHARED(name) double* const name = reinterpret_cast<double*>(shared_memory)
inline double infinity() { return INFINITY; }
inline unsigned add_to(unsigned* counter, unsigned n) {
    const unsigned before = *counter;
    *counter += n;
    return before;
}
inline void set_bits(unsigned* word, unsigned bits) { *word |= bits; }
inline void lower(unsigned* least, unsigned value) { *least = value < *least ? value : *least; }
template <class T>
void raise(T* greatest, T value) {
    *greatest = value > *greatest ? value : *greatest;
}
inline unsigned long long bits_of(double value) {
    unsigned long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline double as_double(unsigned long long bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline unsigned lowest_bit(unsigned word) { return static_cast<unsigned>(__builtin_ctz(word)); }
inline unsigned next_place(unsigned* counter) { return (*counter)++; }
