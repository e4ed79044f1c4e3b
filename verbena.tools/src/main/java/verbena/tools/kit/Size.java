package verbena.tools.kit;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;
import verbena.wire.notation.ByteSize;

/// A number of bytes as an option: see [ByteSize].
public class Size implements ITypeConverter<Integer> {
    private final int bare;

    public Size() {
        this(1);
    }

    // bare: bytes that a number without a unit counts, and that the option's value is in.
    private Size(int bare) {
        this.bare = bare;
    }

    /// A size in KiB, which a number without a unit means.
    public static final class InKiB extends Size {
        public InKiB() {
            super(1 << 10);
        }
    }

    /// A size in MiB, which a number without a unit means.
    public static final class InMiB extends Size {
        public InMiB() {
            super(1 << 20);
        }
    }

    @Override
    public Integer convert(String text) {
        long bytes;
        try {
            // A minus sign is a number, which the command refuses with the range that it takes.
            bytes = text.startsWith("-") ? -ByteSize.parse(text.substring(1), bare) : ByteSize.parse(text, bare);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
        if (bytes % bare != 0) {
            throw new TypeConversionException("a multiple of " + (bare >> 10) + " KiB, got \"" + text + "\"");
        }
        if (Math.abs(bytes / bare) > Integer.MAX_VALUE) {
            throw new TypeConversionException("'" + text + "' is too large");
        }
        return (int) (bytes / bare);
    }
}
