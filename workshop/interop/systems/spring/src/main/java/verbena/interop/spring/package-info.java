/// Spring Boot, unmodified.
@NullMarked
package verbena.interop.spring;

import org.jspecify.annotations.NullMarked;
