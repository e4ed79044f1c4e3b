/// The calls of libibverbs and librdmacm, by topic (`...Calls`), on handles that pair an object of `verbena.verbs`
/// with the C struct that stands for it (`...Handle`). [Abi] binds them to the C functions of `src/main/c`.
package verbena.abi;
