package verbena.nic.ib;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricSocket;
import verbena.nic.link.NativeAccess;
import verbena.verbs.Device;
import verbena.verbs.spi.Provider;

/// The provider of `ib` devices: `ib0`, `ib1` and so on are the adapters of this user's soft fabric, in the order of
/// its topology. They are listed while the fabric runs. They have no options.
public final class IbProvider implements Provider {
    private static final Pattern NAME = Pattern.compile("ib(0|[1-9][0-9]{0,3})");

    /// Called by the service loader.
    public IbProvider() {}

    @Override
    public String kind() {
        return "ib";
    }

    @Override
    public List<Device> devices() {
        if (NativeAccess.whyPortable() != null) {
            return List.of();
        }
        Path place = FabricSocket.place();
        var devices = new ArrayList<Device>();
        for (FabricPort port : FabricPort.all(place)) {
            devices.add(new IbDevice("ib" + devices.size(), devices.size(), place, port.nodeGuid(), port.portGuid()));
        }
        return List.copyOf(devices);
    }

    @Override
    public Optional<Device> device(String name) {
        if (!NAME.matcher(name).matches()) {
            return Optional.empty();
        }
        return devices().stream().filter(device -> device.name().equals(name)).findFirst();
    }
}
