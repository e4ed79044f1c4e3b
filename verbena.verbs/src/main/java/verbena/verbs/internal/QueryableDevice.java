package verbena.verbs.internal;

import verbena.verbs.Context;
import verbena.verbs.DeviceException;

/// A [verbena.verbs.Device] that can be opened without what its queue pairs need, such as the UDP port of RoCE v2,
/// while another process has that. Programs in C open every device of the list to choose one. Any thread may use it.
public interface QueryableDevice {
    /// Opens the device for queries. The program closes the result. Making a queue pair there throws the exception
    /// of [verbena.verbs.Device#open()].
    ///
    /// @param why exception of [verbena.verbs.Device#open()]
    /// @throws DeviceException `why`, when it has another reason
    Context openForQueries(DeviceException why);

    /// Returns whether a process has it open once at most, because it shares its address with no other device. A
    /// program in C that opens it again gets the same context by another pointer.
    boolean hasOneContext();
}
