/// RoCE: how an IB packet travels in Ethernet and UDP, and the ICRC that guards it on the way.
package verbena.wire.roce;
