/// Jetty's server and client.
@NullMarked
package verbena.engines.jetty;

import org.jspecify.annotations.NullMarked;
