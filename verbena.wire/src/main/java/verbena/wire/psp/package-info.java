/// PSP, the protocol that encrypts single packets (PSP Architecture Specification, 17 November 2022): the layout
/// of its header, keys, and packets sealed and opened. No key is agreed on here, and none is kept.
///
/// A receiver looks a packet through in this order: [verbena.wire.psp.PspIp#find] or a socket finds it,
/// [verbena.wire.psp.PspHeader#check] judges its form, its SPI leads to a [verbena.wire.psp.PspOpener], and that
/// judges IV and ICV.
package verbena.wire.psp;
