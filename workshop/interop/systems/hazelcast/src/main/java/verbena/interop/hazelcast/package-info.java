/// Hazelcast: two members.
@NullMarked
package verbena.interop.hazelcast;

import org.jspecify.annotations.NullMarked;
