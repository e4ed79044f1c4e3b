/// Memory, functions and errors of C: one style for Linux, libibverbs and librdmacm. No other package but those of
/// the C library of `verbena.abi` links a function of C.
package verbena.foreign;
