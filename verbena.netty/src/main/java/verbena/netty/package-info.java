/// A transport of Netty: [verbena.netty.VerbenaIoHandler] for the group, [verbena.netty.VerbenaSocketChannel] and
/// [verbena.netty.VerbenaServerSocketChannel] for the bootstraps, [verbena.netty.VerbenaChannelOption] for what
/// sockets have not.
package verbena.netty;
