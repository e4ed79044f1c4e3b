package verbena.verbs.spi;

import verbena.verbs.Context;
import verbena.verbs.DeviceException;

/// A [verbena.verbs.Device] that can be opened for questions only, while another process has what its queue pairs
/// need, such as the UDP port of RoCE v2. Programs in C open every device that is listed, to choose one of them.
public interface WatchableDevice {
    /// Opens the device without that. Making a queue pair fails as [verbena.verbs.Device#open()] has done.
    ///
    /// @param why what [verbena.verbs.Device#open()] has thrown
    /// @throws DeviceException `why`, when it has another reason
    Context watch(DeviceException why);
}
