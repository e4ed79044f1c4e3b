package verbena.tools.decode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import verbena.tools.kit.CommandFailed;
import verbena.wire.pcap.PspUnwrapper;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspMasterKey;
import verbena.wire.psp.PspVersion;

/// Keys of PSP from a file of text: a line for each, `SPI KEY`, or `master0 KEY` and `master1 KEY` for a
/// receiver's master keys, all in hexadecimal. Several lines may be about one SPI, and several receivers may have
/// their master keys in it. A line that begins with `#` is a remark.
final class PspKeyFile implements PspUnwrapper.Keys {
    private static final int MASTERS = 2;

    private final Map<Integer, List<byte[]>> bySpi = new HashMap<>();
    private final List<List<PspMasterKey>> masters = List.of(new ArrayList<>(), new ArrayList<>());

    private PspKeyFile() {}

    /// Makes one that knows no key.
    static PspKeyFile empty() {
        return new PspKeyFile();
    }

    static PspKeyFile read(Path file) {
        var keys = new PspKeyFile();
        try {
            List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).strip();
                if (!line.isEmpty() && !line.startsWith("#")) {
                    keys.add(line.split("\\s+", -1), "--keys: line " + (i + 1) + " of " + file + ": ");
                }
            }
        } catch (NoSuchFileException e) {
            throw new CommandFailed("--keys: there is no " + file, e);
        } catch (IOException e) {
            throw CommandFailed.io("--keys: cannot read " + file, e);
        }
        return keys;
    }

    private void add(String[] words, String where) {
        if (words.length != 2) {
            throw new CommandFailed(where + "SPI KEY, master0 KEY or master1 KEY");
        }
        byte[] key;
        try {
            key = HexFormat.of().parseHex(words[1]);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(where + "a key is hexadecimal", e);
        }
        for (int i = 0; i < MASTERS; i++) {
            if (words[0].equals("master" + i)) {
                if (key.length != PspMasterKey.BYTES) {
                    throw new CommandFailed(where + "a master key has 32 bytes, not " + key.length);
                }
                masters.get(i).add(new PspMasterKey(key));
                return;
            }
        }
        if (key.length != PspVersion.AES_GCM_128.keyBytes() && key.length != PspVersion.AES_GCM_256.keyBytes()) {
            throw new CommandFailed(where + "a key of an SPI has 16 or 32 bytes, not " + key.length);
        }
        bySpi.computeIfAbsent(spi(words[0], where), _ -> new ArrayList<>()).add(key);
    }

    private static int spi(String word, String where) {
        try {
            int spi = HexFormat.fromHexDigits(word.startsWith("0x") ? word.substring(2) : word);
            if (PspHeader.isSpi(spi)) {
                return spi;
            }
        } catch (IllegalArgumentException _) {
            // is told below
        }
        throw new CommandFailed(where
                + "an SPI has up to 8 hexadecimal digits, whose low 31 bits are not all zero; got '" + word + "'");
    }

    @Override
    public List<byte[]> of(int spi, PspVersion version) {
        var found = new ArrayList<byte[]>();
        for (byte[] key : bySpi.getOrDefault(spi, List.of())) {
            if (key.length == version.keyBytes()) {
                found.add(key);
            }
        }
        for (PspMasterKey master : masters.get(PspHeader.masterKey(spi))) {
            found.add(master.derive(spi, version));
        }
        return found;
    }
}
