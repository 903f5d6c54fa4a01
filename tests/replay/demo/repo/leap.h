int is_leap(int year);
