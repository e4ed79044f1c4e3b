import org.jspecify.annotations.NullMarked;

/// Traces of calls between workers, by OpenTelemetry.
@NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // its jars have no descriptors
module verbena.opentelemetry {
    requires static org.jspecify;
    requires transitive io.opentelemetry.api;
    requires io.opentelemetry.context;
    requires transitive verbena.messages;

    exports verbena.opentelemetry;
}
