package verbena.tools.files;

/// A message that offers entries.
final class Announcement {
    /// Its entries that have no answer yet.
    int unanswered;
}
