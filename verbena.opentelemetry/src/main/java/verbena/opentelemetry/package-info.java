/// Traces of calls between workers, by OpenTelemetry. [verbena.opentelemetry.CallTracing] makes them.
package verbena.opentelemetry;
