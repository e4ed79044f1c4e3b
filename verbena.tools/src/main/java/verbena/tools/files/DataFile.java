package verbena.tools.files;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// An open file, read and written at places by several threads; past the page cache where that was asked for.
final class DataFile implements AutoCloseable {
    private final FileChannel file;
    /// The same file with O_DIRECT, which wants whole pages.
    private final @Nullable FileChannel direct;

    private DataFile(FileChannel file, @Nullable FileChannel direct) {
        this.file = file;
        this.direct = direct;
    }

    /// @param isDirect whether not to leave it in the page cache
    static DataFile open(Spot spot, Path name, boolean isDirect, OpenOption... options) throws IOException {
        FileChannel file = spot.open(name, options);
        if (!isDirect) {
            return new DataFile(file, null);
        }
        try {
            OpenOption[] all = Arrays.copyOf(options, options.length + 1);
            all[options.length] = bypass();
            return new DataFile(file, spot.open(name, all));
        } catch (IOException | UnsupportedOperationException _) {
            return new DataFile(file, null); // the file system has none, tmpfs for instance
        }
    }

    /// Returns the option for O_DIRECT. The JDK has it in jdk.unsupported only, and javac warns wherever that is
    /// named.
    ///
    /// @throws UnsupportedOperationException when this JDK does not have it
    static OpenOption bypass() {
        try {
            Class<?> options = Class.forName("com.sun.nio.file.ExtendedOpenOption");
            for (Object option : options.getEnumConstants()) {
                if (option instanceof OpenOption open && option.toString().equals("DIRECT")) {
                    return open;
                }
            }
            throw new UnsupportedOperationException("DIRECT");
        } catch (ClassNotFoundException e) {
            throw new UnsupportedOperationException("DIRECT", e);
        }
    }

    FileChannel channel() {
        return file;
    }

    /// Fills the first `length` bytes of `into`, and flips it.
    ///
    /// @param into aligned to pages, and with room for whole ones
    /// @throws EOFException when the file has fewer
    void read(ByteBuffer into, int length, long at) throws IOException {
        FileChannel from = direct == null ? file : direct;
        into.clear().limit(direct == null ? length : up(length));
        while (into.position() < length) {
            if (from.read(into, at + into.position()) < 0) {
                throw new EOFException("it has become shorter while it was copied");
            }
        }
        into.position(0).limit(length);
    }

    /// Writes what is between position 0 and limit.
    void write(ByteBuffer from, long at) throws IOException {
        int end = from.limit();
        FileChannel past = direct;
        if (past != null) {
            from.limit(end - end % Terms.PAGE);
            write(past, from, at);
            from.limit(end);
        }
        write(file, from, at);
        from.position(0);
    }

    private static void write(FileChannel to, ByteBuffer from, long at) throws IOException {
        while (from.hasRemaining()) {
            to.write(from, at + from.position());
        }
    }

    private static int up(int length) {
        return (length + Terms.PAGE - 1) / Terms.PAGE * Terms.PAGE;
    }

    @Override
    public void close() throws IOException {
        try (file) {
            if (direct != null) {
                direct.close();
            }
        }
    }
}
