// The interpreter lock, safe to take again while the interpreter shuts down.
//
// A daemon thread may still be in the core by then. CPython before 3.14 ends a thread that asks for the lock, which
// unwinds its stack: the unwinding can't pass the destructor of a guard (std::terminate), and workers still use that
// stack. So the thread is parked instead, and ends with the process.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace hedgerow::bindings {

[[noreturn]] inline void park_thread() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

// Calls take(), which waits for the lock; does not return if the interpreter shuts down, before or while it waits.
template <class Take>
auto take_gil(const Take& take) {
    if (is_finalizing()) park_thread();
#if defined(__GLIBCXX__)
    try {
        return take();
    } catch (abi::__forced_unwind&) {
        park_thread();
    }
#else
    return take();
#endif
}

class ReleasedGil {
public:
    ReleasedGil() : state_(PyEval_SaveThread()) {}
    ~ReleasedGil() {
        take_gil([this] { PyEval_RestoreThread(state_); });
    }
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

private:
    PyThreadState* state_;
};

// Calls compute() without the lock.
template <class Compute>
auto without_gil(const Compute& compute) {
    const ReleasedGil release;
    return compute();
}

class HeldGil {
public:
    HeldGil() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
    ~HeldGil() { PyGILState_Release(state_); }
    HeldGil(const HeldGil&) = delete;
    HeldGil& operator=(const HeldGil&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace hedgerow::bindings
