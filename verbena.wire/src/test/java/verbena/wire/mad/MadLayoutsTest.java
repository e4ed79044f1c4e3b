package verbena.wire.mad;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The layouts of management datagrams, against themselves and against an independent decoder (IBTA 13.4.2,
/// 13.6.2, 14.2.1, 14.2.5, 15.2.1.1, 15.2.5, 16.1).
class MadLayoutsTest {
    private static final int LINKTYPE_ERF = 197;
    private static final int ERF_INFINIBAND = 21;
    private static final int ERF_HEADER_BYTES = 16;

    @ParameterizedTest
    @ValueSource(
            classes = {
                NodeInfo.class,
                SwitchInfo.class,
                PortInfo.class,
                SmInfo.class,
                InformInfo.class,
                ClassPortInfo.class,
                PathRecord.class,
                McMemberRecord.class,
                ServiceRecord.class,
                NodeRecord.class,
                PortInfoRecord.class
            })
    void fieldsOfALayoutDoNotOverlapAndFit(Class<?> layout) throws ReflectiveOperationException {
        int bytes = layout.getField("BYTES").getInt(null);
        int[] owners = new int[8 * bytes];
        for (Field field : fields(layout).values()) {
            for (int bit = 0; bit < field.bits(); bit++) {
                owners[8 * field.octet() + field.bit() + bit]++;
            }
        }
        assertThat(owners).containsAnyOf(1).doesNotContain(2);
    }

    @Test
    void countersDoNotOverlap() {
        int[] classic = new int[8 * PortCounters.BYTES];
        int[] extended = new int[8 * PortCountersExtended.BYTES];
        for (PortCounter counter : PortCounter.values()) {
            mark(classic, counter.classic());
            mark(extended, counter.extended());
        }
        mark(classic, PortCounters.PORT_SELECT);
        mark(classic, PortCounters.COUNTER_SELECT);
        mark(classic, PortCounters.COUNTER_SELECT_2);
        mark(extended, PortCountersExtended.PORT_SELECT);
        mark(extended, PortCountersExtended.COUNTER_SELECT);
        assertThat(classic).doesNotContain(2);
        assertThat(extended).doesNotContain(2);
    }

    private static void mark(int[] owners, @org.jspecify.annotations.Nullable Field field) {
        for (int bit = 0; field != null && bit < field.bits(); bit++) {
            owners[8 * field.octet() + field.bit() + bit]++;
        }
    }

    /// Attributes of chance, in datagrams in frames of InfiniBand: tshark finds the values that our fields find.
    @Test
    void tsharkFindsTheSameValues(@TempDir Path folder) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/tshark")), "tshark is not installed");
        compare(folder, NodeInfo.class, NodeInfo.ATTRIBUTE, "nodeinfo", Map.of("NUM_PORTS", "numports"));
        compare(
                folder,
                SwitchInfo.class,
                SwitchInfo.ATTRIBUTE,
                "switchinfo",
                Map.of("OPTIMIZED_SL_TO_VL", "", "ENHANCED_PORT_0", "enhancedportzero", "MULTICAST_FDB_TOP", ""));
        compare(
                folder,
                PortInfo.class,
                PortInfo.ATTRIBUTE,
                "portinfo",
                Map.ofEntries(
                        Map.entry("GID_PREFIX", "guid"),
                        Map.entry("MASTER_SM_LID", "mastersmlid"),
                        Map.entry("M_KEY", "m_key"),
                        Map.entry("M_KEY_LEASE_PERIOD", "m_keyleaseperiod"),
                        Map.entry("M_KEY_PROTECT_BITS", "m_keyprotectbits"),
                        Map.entry("M_KEY_VIOLATIONS", "m_keyviolations"),
                        Map.entry("P_KEY_VIOLATIONS", "p_keyviolations"),
                        Map.entry("Q_KEY_VIOLATIONS", "q_keyviolations"),
                        Map.entry("PHYSICAL_STATE", "portphysicalstate"),
                        Map.entry("VL_ARB_HIGH_CAP", "vlarbitrationhighcap"),
                        Map.entry("VL_ARB_LOW_CAP", "vlarbitrationlowcap"),
                        // It does not know these.
                        Map.entry("MULTICAST_PKEY_TRAP_SUPPRESSION", ""),
                        Map.entry("CAPABILITY_MASK_2", ""),
                        Map.entry("LINK_SPEED_EXT_ACTIVE", ""),
                        Map.entry("LINK_SPEED_EXT_SUPPORTED", ""),
                        Map.entry("LINK_SPEED_EXT_ENABLED", "")));
        compare(folder, SmInfo.class, SmInfo.ATTRIBUTE, "sminfo", Map.of("SM_KEY", "sm_key", "STATE", "smstate"));
    }

    private static void compare(
            Path folder, Class<?> layout, int attribute, String prefix, Map<String, String> otherNames)
            throws Exception {
        var random = new Random(attribute);
        var frames = new ArrayList<byte[]>();
        var mads = new ArrayList<MemorySegment>();
        for (int i = 0; i < 20; i++) {
            MemorySegment mad = Mad.allocate();
            byte[] junk = new byte[Smp.DATA_BYTES];
            random.nextBytes(junk);
            Smp.writeDirected(mad, Mad.METHOD_GET_RESPONSE, i, attribute, 0, 7, new byte[] {1, 2, 3});
            Smp.data(mad).copyFrom(MemorySegment.ofArray(junk));
            mads.add(mad);
            frames.add(frame(mad));
        }
        Path file = folder.resolve(prefix + ".pcap");
        Files.write(file, pcap(frames));
        var names = new LinkedHashMap<String, Field>();
        fields(layout).forEach((name, field) -> {
            String other = otherNames.getOrDefault(name, name.replace("_", "").toLowerCase(java.util.Locale.ROOT));
            if (!other.isEmpty()) {
                names.put("infiniband." + prefix + "." + other, field);
            }
        });
        names.put("infiniband.smpdirected.hopcount", Smp.HOP_COUNT.in(-64));
        names.put("infiniband.mad.attributeid", Field.of(16, 16).in(-64));
        var command = new ArrayList<>(List.of("tshark", "-r", file.toString(), "-T", "fields"));
        for (String name : names.keySet()) {
            command.add("-e");
            command.add(name);
        }
        Process tshark = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> lines = new String(tshark.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(tshark.waitFor()).isZero();
        assertThat(lines).hasSize(mads.size());
        for (int i = 0; i < lines.size(); i++) {
            String[] values = lines.get(i).split("\t", -1);
            int at = 0;
            for (var entry : names.entrySet()) {
                Field field = entry.getValue();
                // Fields of the header were moved before the attribute.
                long ours = field.in(64).get(mads.get(i));
                assertThat(number(values[at], field))
                        .as("%s of packet %d: %s", entry.getKey(), i, values[at])
                        .isEqualTo(ours);
                at++;
            }
        }
    }

    private static long number(String text, Field field) {
        if (text.contains(":")) { // a GUID, or half a GID
            String digits = text.replace(":", "");
            return Long.parseUnsignedLong(digits, 16);
        }
        if (text.equals("True") || text.equals("False")) {
            return text.equals("True") ? 1 : 0;
        }
        long value = Long.decode(text.startsWith("0x") && text.length() > 17 ? "0" : text);
        if (text.startsWith("0x") && text.length() > 17) {
            value = Long.parseUnsignedLong(text.substring(2), 16);
        }
        return field.bits() == 64 ? value : value & ((1L << field.bits()) - 1);
    }

    /// LRH, BTH, DETH, the datagram, and room for the CRCs, which tshark does not judge.
    private static byte[] frame(MemorySegment mad) {
        ByteBuffer frame = ByteBuffer.allocate(8 + 12 + 8 + Mad.BYTES + 6);
        int words = (frame.capacity() - 2) / 4;
        frame.putShort((short) 0xF002)
                .putShort((short) 0xFFFF)
                .putShort((short) words)
                .putShort((short) 0xFFFF);
        frame.put((byte) 0x64).put((byte) 0).putShort((short) 0xFFFF).putInt(0).putInt(1);
        frame.putInt(0).putInt(0);
        frame.put(mad.toArray(ValueLayout.JAVA_BYTE));
        return frame.array();
    }

    private static byte[] pcap(List<byte[]> frames) {
        ByteBuffer file = ByteBuffer.allocate(24 + frames.size() * 400).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(0xA1B2C3D4)
                .putShort((short) 2)
                .putShort((short) 4)
                .putInt(0)
                .putInt(0)
                .putInt(65535);
        file.putInt(LINKTYPE_ERF);
        for (byte[] frame : frames) {
            int length = ERF_HEADER_BYTES + frame.length;
            file.putInt(1).putInt(0).putInt(length).putInt(length);
            file.putLong(0).put((byte) ERF_INFINIBAND).put((byte) 0);
            file.putShort(Short.reverseBytes((short) length)).putShort((short) 0);
            file.putShort(Short.reverseBytes((short) frame.length)).put(frame);
        }
        return java.util.Arrays.copyOf(file.array(), file.position());
    }

    private static Map<String, Field> fields(Class<?> layout) throws ReflectiveOperationException {
        var fields = new LinkedHashMap<String, Field>();
        for (var one : layout.getFields()) {
            if (one.getType() == Field.class && Modifier.isStatic(one.getModifiers())) {
                fields.put(one.getName(), (Field) Objects.requireNonNull(one.get(null)));
            }
        }
        assertThat(fields).isNotEmpty();
        return fields;
    }

    /// Each bit of the mask asks for its component, and for no other.
    @Test
    void aComponentMaskComparesWhatItNames() {
        assertThat(ServiceRecord.COMPONENTS.size()).isEqualTo(37);
        assertThat(NodeRecord.COMPONENTS.size()).isEqualTo(15);
        assertThat(McMemberRecord.COMPONENTS.size()).isEqualTo(18);
        MemorySegment query = MemorySegment.ofArray(new byte[200]);
        MemorySegment record = MemorySegment.ofArray(new byte[200]);
        PortInfo.PORT_STATE.in(PortInfoRecord.PORT_INFO).put(query, PortInfo.ACTIVE);
        for (int bit = 0; bit < 64; bit++) {
            assertThat(PortInfoRecord.COMPONENTS.matches(1L << bit, query, record))
                    .as("bit %d", bit)
                    .isEqualTo(bit != 16);
        }
        McMemberRecord.MGID_LOW.put(query, 1);
        assertThat(McMemberRecord.COMPONENTS.matches(McMemberRecord.HAS_MGID, query, record))
                .isFalse();
        McMemberRecord.MGID_LOW.put(record, 1);
        assertThat(McMemberRecord.COMPONENTS.matches(McMemberRecord.HAS_MGID, query, record))
                .isTrue();
    }

    @Test
    void aDirectedRouteHasItsLimit() {
        MemorySegment mad = Mad.allocate();
        assertThatThrownBy(() -> Smp.writeDirected(mad, 1, 1, 0x11, 0, 0, new byte[64]))
                .hasMessage("path: at most 63 hops, got 64");
        Smp.writeDirected(mad, 1, 1, 0x11, 0, 0, new byte[63]);
        assertThat(Smp.HOP_COUNT.getInt(mad)).isEqualTo(63);
    }

    @Test
    void aDescriptionIsCutToItsPlace() {
        MemorySegment data = MemorySegment.ofArray(new byte[64]);
        NodeDescription.put(data, "x".repeat(100));
        assertThat(NodeDescription.get(data)).isEqualTo("x".repeat(64));
        NodeDescription.put(data, "edge 1");
        assertThat(NodeDescription.get(data)).isEqualTo("edge 1");
    }
}
