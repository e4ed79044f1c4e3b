package verbena.ibverbs;

import static verbena.foreign.rdma.VerbsStructs.DEVICE;

import java.util.List;
import java.util.Optional;
import verbena.foreign.Memory;
import verbena.foreign.NativeLibrary;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.spi.Provider;

/// Provides the system's RDMA devices under the names that the kernel gives them (`mlx5_0`, `rxe0`, `siw0`), and
/// by one of their IP addresses as `ibverbs@ADDRESS`. Silent where there is no libibverbs.
public final class IbverbsProvider implements Provider {
    /// For the service loader.
    public IbverbsProvider() {}

    @Override
    public String kind() {
        return "ibverbs";
    }

    @Override
    public List<Device> devices() {
        try {
            VerbsLibrary library = VerbsLibrary.find();
            return library.withDevices(found -> found.stream()
                    .filter(IbverbsProvider::speaksVerbs)
                    .<Device>map(address -> IbvDevice.at(library, address))
                    .toList());
        } catch (NativeLibrary.MissingException e) {
            return List.of();
        }
    }

    /// Verbs over InfiniBand, RoCE or iWARP; not usNIC and the like, which have the structs but not the meaning.
    private static boolean speaksVerbs(long device) {
        int transport = Memory.getInt(device + DEVICE.at("transport_type"));
        return transport == 0 || transport == 1;
    }

    @Override
    public Optional<Device> device(String name) {
        String prefix = kind() + "@";
        if (!name.startsWith(prefix)) {
            return devices().stream()
                    .filter(device -> device.name().equals(name))
                    .findFirst();
        }
        Gid wanted;
        try {
            wanted = Gid.parse(name.substring(prefix.length()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "device " + name + ": \"" + name.substring(prefix.length()) + "\" is no IPv4 or IPv6 address", e);
        }
        return devices().stream()
                .filter(device ->
                        device.gids().stream().anyMatch(entry -> entry.gid().equals(wanted)))
                .findFirst();
    }

    @Override
    public boolean isOfSystem() {
        return true;
    }

    /// Why there is no device, for programs that look for one; empty when the libraries are there.
    public static Optional<String> whyNot() {
        try {
            VerbsLibrary.find();
            return Optional.empty();
        } catch (NativeLibrary.MissingException e) {
            return Optional.ofNullable(e.getMessage());
        }
    }
}
