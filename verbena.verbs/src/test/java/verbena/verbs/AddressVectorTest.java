package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.spi.CompletionAccess;

/// Each number of a way at its limits and beside them, and at those of its type: taken as it is, or refused by name.
class AddressVectorTest {
    private static final AddressVector WAY = AddressVector.to(Gid.parse("10.0.0.1"), 0);

    record Row(
            String name,
            int low,
            int high,
            BiFunction<AddressVector, Integer, AddressVector> with,
            ToIntFunction<AddressVector> of) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Row> numbers() {
        return Stream.of(
                new Row(
                        "sourceGidIndex",
                        0,
                        65_535,
                        (way, value) -> AddressVector.to(way.destination(), value),
                        AddressVector::sourceGidIndex),
                new Row("port", 1, 255, AddressVector::withPort, AddressVector::port),
                new Row("trafficClass", 0, 255, AddressVector::withTrafficClass, AddressVector::trafficClass),
                new Row("hopLimit", 1, 255, AddressVector::withHopLimit, AddressVector::hopLimit),
                new Row("flowLabel", 0, (1 << 20) - 1, AddressVector::withFlowLabel, AddressVector::flowLabel),
                new Row("serviceLevel", 0, 15, AddressVector::withServiceLevel, AddressVector::serviceLevel),
                new Row("destinationLid", 0, 65_535, AddressVector::withDestinationLid, AddressVector::destinationLid),
                new Row("sourcePathBits", 0, 127, AddressVector::withSourcePathBits, AddressVector::sourcePathBits));
    }

    /// The sender of a datagram is reached by the port that it came by: another port has other GIDs.
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void thePathToASenderLeavesByThePortThatTheDatagramCameBy(int port) {
        var received = new WorkCompletion();
        CompletionAccess.fill(received, 0, WcStatus.SUCCESS, WcOpcode.RECV, 0, 50, 0, 7, 9, CompletionAccess.GRH, "");
        MemorySegment area = MemorySegment.ofArray(new byte[40]);
        area.set(ValueLayout.JAVA_BYTE, 0, (byte) 0x60);
        Gid sender = Gid.parse("fe80::9");
        MemorySegment.copy(MemorySegment.ofArray(bytes(sender)), 0, area, 8, 16);
        Gid own = Gid.parse("fd00::1");
        MemorySegment.copy(MemorySegment.ofArray(bytes(own)), 0, area, 24, 16);
        var ofFirst = List.of(entry(0, own));
        var ofSecond = List.of(entry(0, Gid.parse("fd00::2")), entry(1, own));
        var context = (Context) Proxy.newProxyInstance(
                Context.class.getClassLoader(), new Class<?>[] {Context.class}, (_, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("gids");
                    return (int) arguments[0] == 1 ? ofFirst : ofSecond;
                });
        AddressVector back = AddressVector.toSender(received, area, context, port);
        assertThat(back.port()).isEqualTo(port);
        assertThat(back.sourceGidIndex()).isEqualTo(port - 1);
        assertThat(back.destination()).isEqualTo(sender);
    }

    private static GidEntry entry(int index, Gid gid) {
        return new GidEntry(index, gid, GidType.ROCE_V2, "eth0", 2);
    }

    private static byte[] bytes(Gid gid) {
        return gid.address().getAddress();
    }

    static Stream<Row> withs() {
        return numbers().skip(1);
    }

    @ParameterizedTest
    @MethodSource("withs")
    void aNumberThatChangesLeavesTheOthers(Row row) {
        AddressVector full = WAY.withStaticRate(StaticRate.GBPS_40);
        for (Row each : withs().toList()) {
            full = each.with.apply(full, each.low + 2);
        }
        AddressVector before = full;
        AddressVector changed = row.with.apply(before, row.high);

        assertThat(row.of.applyAsInt(changed)).isEqualTo(row.high);
        numbers()
                .filter(each -> !each.name.equals(row.name))
                .forEach(each ->
                        assertThat(each.of.applyAsInt(changed)).as(each.name).isEqualTo(each.of.applyAsInt(before)));
        assertThat(changed.destination()).isEqualTo(before.destination());
        assertThat(changed.staticRate()).isEqualTo(StaticRate.GBPS_40);
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void aNumberIsTakenOrRefusedByName(Row row) {
        IntStream.of(0, 1, row.high - 1, row.high, row.high + 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1)
                .forEach(value -> {
                    if (value >= row.low && value <= row.high) {
                        assertThat(row.of.applyAsInt(row.with.apply(WAY, value)))
                                .isEqualTo(value);
                    } else {
                        assertThatThrownBy(() -> row.with.apply(WAY, value))
                                .isInstanceOf(IllegalArgumentException.class)
                                .hasMessage(row.name + ": " + row.low + " to " + row.high + ", got " + value);
                    }
                });
    }
}
