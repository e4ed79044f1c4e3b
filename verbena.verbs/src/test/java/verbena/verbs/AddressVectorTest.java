package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Each number of a way at its limits and beside them, and at those of its type: taken as it is, or refused by name.
class AddressVectorTest {
    private static final AddressVector WAY = AddressVector.to(Gid.parse("10.0.0.1"), 0);

    record Row(String name, int low, int high, IntFunction<AddressVector> with, ToIntFunction<AddressVector> of) {
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
                        value -> AddressVector.to(WAY.destination(), value),
                        AddressVector::sourceGidIndex),
                new Row("port", 1, 255, WAY::withPort, AddressVector::port),
                new Row("trafficClass", 0, 255, WAY::withTrafficClass, AddressVector::trafficClass),
                new Row(
                        "hopLimit",
                        1,
                        255,
                        value -> new AddressVector(WAY.destination(), 0, 1, 0, value, 0, 0, 0),
                        AddressVector::hopLimit),
                new Row(
                        "flowLabel",
                        0,
                        (1 << 20) - 1,
                        value -> new AddressVector(WAY.destination(), 0, 1, 0, 64, value, 0, 0),
                        AddressVector::flowLabel),
                new Row("serviceLevel", 0, 15, WAY::withServiceLevel, AddressVector::serviceLevel),
                new Row("destinationLid", 0, 65_535, WAY::withDestinationLid, AddressVector::destinationLid),
                new Row("sourcePathBits", 0, 127, WAY::withSourcePathBits, AddressVector::sourcePathBits));
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void aNumberIsTakenOrRefusedByName(Row row) {
        IntStream.of(0, 1, row.high - 1, row.high, row.high + 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1)
                .forEach(value -> {
                    if (value >= row.low && value <= row.high) {
                        assertThat(row.of.applyAsInt(row.with.apply(value))).isEqualTo(value);
                    } else {
                        assertThatThrownBy(() -> row.with.apply(value))
                                .isInstanceOf(IllegalArgumentException.class)
                                .hasMessage(row.name + ": " + row.low + " to " + row.high + ", got " + value);
                    }
                });
    }
}
