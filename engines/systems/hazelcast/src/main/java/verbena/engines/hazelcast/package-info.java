/// Hazelcast: two members.
@NullMarked
package verbena.engines.hazelcast;

import org.jspecify.annotations.NullMarked;
