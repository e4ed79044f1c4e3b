/// Unmodified systems of the JVM over RDMA. [Interop] runs each of them as a server and a client in processes of
/// their own, which have the agent of `verbena.nio` and nothing else of Verbena. Each system has a class path of its
/// own.
@NullMarked
package verbena.interop;

import org.jspecify.annotations.NullMarked;
