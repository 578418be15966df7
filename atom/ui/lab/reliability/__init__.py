"""The Judge lab's tab of this study's judge: how far its marks can be relied on."""
