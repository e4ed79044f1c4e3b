/// The kind `rocev2`: queue pairs whose messages travel in frames, connections by the communication manager on
/// queue pair 1.
package verbena.nic.roce;
