/// The calls of libibverbs by topic (`...Calls`), on the handles of its objects.
package verbena.abi.verbs;
