/// Captures: reading and writing pcap and pcapng files, and the network headers between a file's packet and a
/// [verbena.wire.Frame].
///
///     try (var reader = CaptureReader.open(path)) {
///         var encapsulation = new Encapsulation();
///         for (var p = reader.next(); p != null; p = reader.next()) {
///             if (encapsulation.unwrap(p.linkType(), p.bytes(), frame) instanceof Unwrapped.Roce roce) { … }
///         }
///     }
package verbena.wire.pcap;
