package verbena.foreign;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/// A shared library of the system. Looked up by the name that the loader knows, or by a path.
public final class NativeLibrary {
    private final String name;
    private final SymbolLookup symbols;

    private NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /// Loads it, once for the process.
    ///
    /// @throws MissingException when it is not there, or may not be loaded; says which and what to do
    @SuppressWarnings("restricted") // loading the system's library is what this room is for
    public static NativeLibrary load(String name, String hint) {
        try {
            return new NativeLibrary(
                    name,
                    name.contains("/")
                            ? SymbolLookup.libraryLookup(java.nio.file.Path.of(name), Arena.global())
                            : SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException e) {
            throw new MissingException(name + " cannot be loaded: " + hint, e);
        } catch (IllegalCallerException e) {
            throw new MissingException(
                    name + " may not be called: run with --enable-native-access=verbena.foreign (ALL-UNNAMED on the"
                            + " class path)",
                    e);
        }
    }

    /// Returns a function that every version has.
    ///
    /// @throws MissingException when this one has not
    public NativeFunction function(String signature) {
        return optional(signature)
                .orElseThrow(() -> new MissingException(
                        name + " has no function " + functionName(signature) + ": rdma-core 28 or newer is needed",
                        null));
    }

    /// Returns a function that some versions have.
    public Optional<NativeFunction> optional(String signature) {
        return symbols.find(functionName(signature)).map(address -> NativeFunction.of(address, signature));
    }

    /// Returns a function of the shape that [SystemFunction] calls, for paths of packets.
    ///
    /// @throws MissingException when this version has not
    public SystemFunction systemFunction(String function) {
        return symbols.find(function)
                .map(address -> SystemFunction.at(address.address()))
                .orElseThrow(() -> new MissingException(name + " has no function " + function, null));
    }

    private static String functionName(String signature) {
        return signature.substring(signature.indexOf(' ') + 1, signature.indexOf('('));
    }

    @Override
    public String toString() {
        return name;
    }

    /// A library or a function is not there; the message says so in a sentence.
    public static final class MissingException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public MissingException(String message, @org.jspecify.annotations.Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
