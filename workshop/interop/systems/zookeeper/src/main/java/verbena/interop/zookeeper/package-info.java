/// ZooKeeper: a server and a client.
@NullMarked
package verbena.interop.zookeeper;

import org.jspecify.annotations.NullMarked;
