/// The calls of librdmacm by topic (`...Calls`), on the handles of its identifiers and channels.
package verbena.abi.cm;
