/// What all calls of C stand on: handles, which pair an object of `verbena.verbs` with the C struct that stands for
/// it (`...Handle`), the program's memory, its errors, and the threads that it must not see.
package verbena.abi;
