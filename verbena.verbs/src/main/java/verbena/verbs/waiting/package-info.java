/// How threads wait for what one source of events brings.
@NullMarked
package verbena.verbs.waiting;

import org.jspecify.annotations.NullMarked;
