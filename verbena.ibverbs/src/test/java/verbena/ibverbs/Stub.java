package verbena.ibverbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import verbena.ibverbs.lib.VerbsLibrary;
import verbena.ibverbs.objects.IbvQueuePair;
import verbena.verbs.QueuePair;

/// The library of `stub.c`, compiled once for all tests: a device that writes down what it is told.
@SuppressWarnings("restricted") // calling a library is what it is for
final class Stub {
    private static Stub loaded;

    final VerbsLibrary library;
    private final SymbolLookup symbols;

    private Stub(Path file) {
        library = VerbsLibrary.load(file.toString());
        symbols = SymbolLookup.libraryLookup(file, Arena.global());
    }

    /// Skips the test where there is no compiler, or no `verbs.h`.
    static synchronized Stub load() throws Exception {
        if (loaded == null) {
            assumeTrue(CCompiler.isThere(), "there is no C compiler (cc)");
            Path folder = Files.createTempDirectory("verbena-stub");
            Path source = folder.resolve("stub.c");
            try (var text = Objects.requireNonNull(Stub.class.getResourceAsStream("stub.c"))) {
                Files.copy(text, source);
            }
            String header = CCompiler.tryRun(
                    List.of("-fsyntax-only", "-include", "infiniband/verbs.h", "-x", "c", "/dev/null"));
            assumeTrue(header.isEmpty(), "<infiniband/verbs.h> is not installed");
            Path file = folder.resolve("libstub.so");
            String said =
                    CCompiler.tryRun(List.of("-O1", "-shared", "-fPIC", source.toString(), "-o", file.toString()));
            if (!said.isEmpty()) {
                throw new AssertionError(said);
            }
            loaded = new Stub(file);
            for (Path each : List.of(folder, source, file)) {
                each.toFile().deleteOnExit(); // the last registered goes first
            }
        }
        loaded.call("stub_forget", FunctionDescriptor.ofVoid());
        return loaded;
    }

    IbvContext open() {
        return (IbvContext) device().open();
    }

    IbvDevice device() {
        return library.withDevices(found -> IbvDevice.at(library, found.getFirst()));
    }

    /// What it was told since it was loaded, or asked last.
    String told() {
        String told =
                symbols.find("stub_log").orElseThrow().reinterpret(1 << 16).getString(0);
        call("stub_forget", FunctionDescriptor.ofVoid());
        return told;
    }

    /// The receive that was posted last completes.
    ///
    /// @param flags of `enum ibv_wc_flags`
    /// @param data immediate data in the network's order, or a key
    void receive(QueuePair qp, int opcode, int flags, int data, int bytes, int from) {
        call(
                "stub_receive",
                FunctionDescriptor.ofVoid(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT),
                ((IbvQueuePair) qp).address(),
                opcode,
                flags,
                data,
                bytes,
                from);
    }

    /// An asynchronous event.
    void event(int type, long element) {
        call("stub_event", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG), type, element);
    }

    private void call(String name, FunctionDescriptor descriptor, Object... arguments) {
        try {
            MemorySegment function = symbols.find(name).orElseThrow();
            Linker.nativeLinker().downcallHandle(function, descriptor).invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(name, e);
        }
    }
}
