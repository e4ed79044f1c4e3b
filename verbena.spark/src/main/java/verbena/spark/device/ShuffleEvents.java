package verbena.spark.device;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// Events for the JDK's Flight Recorder. A caller asks [#isOn] first, so that no class of an event is loaded before
/// there is a recording.
@SuppressWarnings("UnusedVariable") // the recorder reads the fields of events
public final class ShuffleEvents {
    private ShuffleEvents() {}

    /// Returns whether there is, or has been, a recording.
    static boolean isOn() {
        return FlightRecorder.isInitialized();
    }

    /// Begins the event of a request; null when there is no recording.
    public static @Nullable Read beginRead() {
        if (!isOn()) {
            return null;
        }
        var event = new Read();
        event.begin();
        return event;
    }

    /// One request of Spark for blocks of a peer, from its first READ to its last block.
    @Name("verbena.spark.Read")
    @Label("Shuffle Read")
    @Category({"Verbena", "Spark"})
    @StackTrace(false)
    public static final class Read extends Event {
        @Label("Executor")
        @Nullable
        String executor;

        @Label("Device")
        @Nullable
        String device;

        @Label("Blocks")
        @Description("That came by READ")
        int blocks;

        @Label("Bytes")
        @DataAmount
        public long bytes;

        @Label("Blocks Left")
        @Description("That go by Spark's transport")
        int left;

        /// Ends and commits it.
        ///
        /// @param came how many blocks came, of those that were asked for
        public void commit(String of, String by, int came, int asked) {
            end();
            if (shouldCommit()) {
                executor = of;
                device = by;
                blocks = came;
                left = asked - came;
                commit();
            }
        }
    }

    /// A map output is complete.
    @Name("verbena.spark.MapOutput")
    @Label("Map Output")
    @Category({"Verbena", "Spark"})
    @StackTrace(false)
    static final class MapOutput extends Event {
        @Label("Shuffle")
        int shuffleId;

        @Label("Map Task")
        long mapId;

        @Label("Bytes")
        @DataAmount
        public long bytes;

        @Label("In Memory")
        @Description("Else it is in a file, because memory or table was full")
        boolean inMemory;

        static void commit(int shuffleId, long mapId, long bytes, boolean inMemory) {
            var event = new MapOutput();
            if (event.shouldCommit()) {
                event.shuffleId = shuffleId;
                event.mapId = mapId;
                event.bytes = bytes;
                event.inMemory = inMemory;
                event.commit();
            }
        }
    }
}
