/// Connections by librdmacm.
package verbena.ibverbs.cm;
