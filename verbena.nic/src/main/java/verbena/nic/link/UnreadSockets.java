package verbena.nic.link;

import java.util.Map;
import verbena.verbs.Gid;

/// A link that can ask the kernel which sockets of this host hold packets that no device has read (decision 08).
public interface UnreadSockets {
    /// Returns the unread bytes of each socket that may get what this link sends to `address`, by the number of the
    /// socket. Sockets without any are left out, and so are those of other users: one of them may take the address
    /// of a process that has ended, and shall not keep its peers waiting. Empty for an address of another host, and
    /// where the kernel does not answer. For the owner of the engine.
    Map<Integer, Integer> unread(Gid address);
}
