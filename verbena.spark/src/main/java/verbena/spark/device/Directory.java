package verbena.spark.device;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Secret;

/// The information that a reader needs about an executor, once: its doors, and the secret that opens them. The
/// executor gives it to readers that ask Spark's own block service for the block [#BLOCK]. So an executor without
/// Spark's authentication gets no key.
///
/// @param doors in order of nearness, none when the executor has no device
public record Directory(Secret secret, List<Entrance> doors) {
    /// A number that no shuffle of Spark's has, because they count from zero.
    public static final int SHUFFLE = Integer.MAX_VALUE;

    public static final String BLOCK = "shuffle_" + SHUFFLE + "_0_0";

    private static final int MAGIC = 0x56534831; // "VSH1"

    /// The address at which a device listens.
    ///
    /// @param kind of the device; readers go through a door of their own of the same kind
    /// @param isProven whether readers prove that they know the secret
    /// @param index of the door among all of the executor, whose key of an output is to be used
    /// @param address of this host, as text
    /// @param table where the map outputs are listed
    public record Entrance(String kind, boolean isProven, int index, String address, int port, RemoteMemory table) {}

    public byte[] bytes() {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeInt(MAGIC);
            byte[] key = secret.bytes();
            out.writeShort(key.length);
            out.write(key);
            out.writeByte(doors.size());
            for (Entrance door : doors) {
                out.writeUTF(door.kind());
                out.writeBoolean(door.isProven());
                out.writeByte(door.index());
                out.writeUTF(door.address());
                out.writeInt(door.port());
                out.writeLong(door.table().address());
                out.writeInt(door.table().rkey());
                out.writeLong(door.table().length());
            }
        } catch (IOException e) {
            throw new AssertionError("a stream into an array does not fail", e);
        }
        return bytes.toByteArray();
    }

    /// Reads a directory.
    ///
    /// @throws IOException when the block has another form
    public static Directory read(InputStream block) throws IOException {
        var in = new DataInputStream(new ByteArrayInputStream(block.readAllBytes()));
        if (in.readInt() != MAGIC) {
            throw new IOException("the directory of the executor has another form: is its Verbena of another version?");
        }
        byte[] key = in.readNBytes(in.readUnsignedShort());
        int doors = in.readUnsignedByte();
        var entrances = new ArrayList<Entrance>();
        try {
            for (int i = 0; i < doors; i++) {
                entrances.add(entrance(in));
            }
            return new Directory(Secret.of(key), List.copyOf(entrances));
        } catch (IllegalArgumentException e) {
            throw new IOException("the directory of the executor has a mistake: " + e.getMessage(), e);
        }
    }

    private static Entrance entrance(DataInputStream in) throws IOException {
        String kind = in.readUTF();
        boolean isProven = in.readBoolean();
        int index = in.readUnsignedByte();
        String address = in.readUTF();
        int port = in.readInt();
        var table = new RemoteMemory(in.readLong(), in.readInt(), in.readLong());
        if (index >= MapOutputTable.DOORS_MAX
                || port < 1
                || port > 0xFFFF
                || table.length() < MapOutputTable.BUCKET_BYTES
                || Long.bitCount(table.length()) != 1) {
            throw new IOException("the directory of the executor has a door that cannot be: " + kind);
        }
        return new Entrance(kind, isProven, index, address, port, table);
    }
}
