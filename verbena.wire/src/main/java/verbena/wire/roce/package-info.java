/// RoCE: an IB packet in Ethernet and UDP, and the ICRC that guards it on its path.
package verbena.wire.roce;
