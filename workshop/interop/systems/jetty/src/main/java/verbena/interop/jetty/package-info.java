/// Jetty's server and client.
@NullMarked
package verbena.interop.jetty;

import org.jspecify.annotations.NullMarked;
