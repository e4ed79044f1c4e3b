/// Bytes on the wire. [verbena.wire.Frame] is the slot that a packet lives in; the packages below know the layouts.
/// Nothing here has a clock, a thread, a socket or a source of chance.
package verbena.wire;
