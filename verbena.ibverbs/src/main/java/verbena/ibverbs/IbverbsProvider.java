package verbena.ibverbs;

import static verbena.foreign.rdma.VerbsStructs.DEVICE;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import verbena.foreign.Memory;
import verbena.foreign.NativeLibrary;
import verbena.ibverbs.lib.VerbsLibrary;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.spi.Provider;

/// The provider of the system's RDMA devices under the names that the kernel gives them (`mlx5_0`, `rxe0`, `siw0`),
/// and by one of their IP addresses as `ibverbs@ADDRESS`. Silent where there is no libibverbs.
public final class IbverbsProvider implements Provider {
    private static final Path CLASSES = Path.of("/sys/class");
    private static final Path DEVICES = Path.of("/dev/infiniband");

    /// Makes a provider; for the service loader.
    public IbverbsProvider() {}

    @Override
    public String kind() {
        return "ibverbs";
    }

    @Override
    public List<Device> devices() {
        if (hasNone()) {
            return List.of();
        }
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

    /// Returns whether the kernel reports that it has no device for processes. Loading the library and calling it
    /// would find the same, and take some 100 ms of a new JVM. Another library than the system's may have devices
    /// of its own.
    private static boolean hasNone() {
        return System.getProperty(VerbsLibrary.PROPERTY) == null
                && Files.isDirectory(CLASSES)
                && !Files.exists(CLASSES.resolve("infiniband_verbs"))
                && !Files.exists(DEVICES);
    }

    /// Returns whether a device has verbs over InfiniBand, RoCE or iWARP. The devices of usNIC and the like have
    /// the structs, but with another meaning.
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

    /// Returns the reason for which there is no device, for programs that look for one; empty when the libraries
    /// are there.
    public static Optional<String> whyNot() {
        try {
            VerbsLibrary.find();
            return Optional.empty();
        } catch (NativeLibrary.MissingException e) {
            return Optional.ofNullable(e.getMessage());
        }
    }
}
