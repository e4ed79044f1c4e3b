/// A transport of Netty: [verbena.netty.VerbenaIoHandler] for the group, [verbena.netty.VerbenaSocketChannel] and
/// [verbena.netty.VerbenaServerSocketChannel] for the bootstraps, [verbena.netty.VerbenaChannelOption] for
/// options that sockets do not have.
package verbena.netty;
