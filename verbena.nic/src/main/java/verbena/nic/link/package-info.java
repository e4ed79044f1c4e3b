/// How bytes leave and enter the process: what all links have in common. [Link] is the contract for frames,
/// [Carrier] for whatever an engine sleeps in; [Seal] checks what a wire may have damaged. [PolledLink] has the
/// sleep of links that poll. [FaultyLink] simulates a bad network around any link of frames. [Interfaces] and
/// [LoopbackAddress] find the addresses.
///
/// Each way to carry bytes is a package beside this one's ground, and only `shm`, `udp` and `ethernet` name another:
/// `sharing`.
package verbena.nic.link;
