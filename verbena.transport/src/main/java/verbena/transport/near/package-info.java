/// What a reliable connection between two devices of one host does without packets: requests on the peer's memory,
/// and messages to the peer's device.
package verbena.transport.near;
