/// How threads that serve many streams wait, and how the process waits for its streams at its end. The package is for
/// the rooms of Verbena.
@NullMarked
package verbena.stream.waiting;

import org.jspecify.annotations.NullMarked;
