/// ZooKeeper: a server and a client.
@NullMarked
package verbena.engines.zookeeper;

import org.jspecify.annotations.NullMarked;
