/// The calls of libibverbs and librdmacm, what a device says and can, and how its events are awaited.
package verbena.ibverbs.lib;
