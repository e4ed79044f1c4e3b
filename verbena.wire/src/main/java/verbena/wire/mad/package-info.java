/// Management datagrams (IBTA 13 to 16): their common header, and the attributes of subnet management, subnet
/// administration and performance management. Each class is the table of one layout: its
/// [verbena.wire.mad.Field]s are applied to the memory that holds it.
package verbena.wire.mad;
