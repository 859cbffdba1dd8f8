"""Which level of x86-64 this CPU has; compiled for the oldest, so that it runs on any."""

cdef extern from *:
    """
    static const char *x86_64_level(void) {
        __builtin_cpu_init();
        if (!(__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")
              && __builtin_cpu_supports("ssse3"))) return "v1";
        if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
              && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))) return "v2";
        if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
              && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
              && __builtin_cpu_supports("avx512vl"))) return "v3";
        return "v4";
    }
    """
    const char *x86_64_level() noexcept


def level():
    """Return "v1" to "v4": the highest x86-64 level whose vector instructions work here.

    The operating system's support counts too, as GCC's `__builtin_cpu_supports` asks for both.

    >>> level() in ("v2", "v3", "v4")
    True
    """
    return x86_64_level().decode()
