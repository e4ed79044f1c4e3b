/// The protocols of queue pairs, without input and output: functions of state, packet and time. Here is what all
/// of them share.
package verbena.transport;
