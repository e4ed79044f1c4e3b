/// Queue pairs that send and receive whole Ethernet frames, each by a packet socket of its own.
@org.jspecify.annotations.NullMarked
package verbena.nic.raw;
