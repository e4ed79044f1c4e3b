/// Kafka: a broker, a producer and a consumer.
@NullMarked
package verbena.interop.kafka;

import org.jspecify.annotations.NullMarked;
