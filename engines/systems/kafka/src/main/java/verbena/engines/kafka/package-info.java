/// Kafka: a broker, a producer and a consumer.
@NullMarked
package verbena.engines.kafka;

import org.jspecify.annotations.NullMarked;
